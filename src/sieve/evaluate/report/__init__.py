"""The report: everything measured about models, and its page. Knows no command line."""
