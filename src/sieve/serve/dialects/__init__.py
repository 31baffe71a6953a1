"""HTTP dialects: what a request of each asks for, and how it is answered. Know no web server."""
