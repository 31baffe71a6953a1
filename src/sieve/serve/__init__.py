"""The server: the LibreTranslate API and one of our own over HTTP, for several models at once.

A request passes `app` (routes) -> `libretranslate` or `v1` (what is asked) -> `service` (texts into
sentences and back) -> `dispatcher` (sentences of all clients to the engine's threads). Only
`run` knows the web server, only `metrics` knows Prometheus.
"""
