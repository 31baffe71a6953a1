"""Which directives of reStructuredText hold text, and where."""

import re

PROSE = re.compile(
    r"note|warning|tip|important|hint|caution|danger|error|attention|seealso|todo|deprecated|admonition"
    r"|versionadded|versionchanged|versionremoved|epigraph|highlights|pull-quote|compound|container"
    r"|class|only|ifconfig|topic|sidebar|rubric|figure|table|list-table|glossary|centered|header"
    r"|footer|tab|tabs|tab-set|tab-item|dropdown|card|grid|grid-item|grid-item-card|details|hlist"
    r"|(?:\w+:)?(?:function|method|class|attribute|data|module|exception|decorator|describe|object"
    r"|option|cmdoption|envvar|program|confval|setting|classmethod|staticmethod|property|macro"
    r"|type|member|struct|enum|enumerator|var|cfunction|term|opcode|pdbcommand|program|role"
    r"|directive|rst:directive|templatetag|templatefilter|django-admin|fieldlookup|index-entry)"
)
"""Directives whose content is text."""
READ_ARGUMENT = re.compile(
    r"note|warning|tip|important|hint|caution|danger|error|attention|seealso|todo|admonition|topic"
    r"|sidebar|rubric|table|list-table|csv-table|centered|epigraph|header|footer|tab-item|dropdown"
    r"|grid-item-card|card|details"
)
VERSIONED = re.compile(r"(?:deprecated|version\w+)\Z")
READ_OPTIONS = re.compile(r":(?:alt|caption|title|header):[ \t]+")
