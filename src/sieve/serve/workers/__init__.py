"""A server of several processes: one port, models in memory once, common limits and metrics.

`supervisor` starts workers and replaces those that die; it holds sealed copies of the models and
finished documents (`stock`) and answers no request itself. A `worker` is a server like that of one
process, on a port and a board that it shares (`doorman`, `serve.shared`). They talk over Unix
sockets (`channel`): a worker asks, the supervisor orders. Linux only; knows neither dialects nor
requests.
"""
