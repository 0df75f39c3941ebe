"""Drives the official Python client of RocketMQ's gRPC protocol by the commands of package clients."""

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from rocketmq import (ClientConfiguration, ConsumeResult, Credentials, FilterExpression, Message, MessageListener,
                      Producer, PushConsumer, SimpleConsumer, TransactionChecker, TransactionResolution)
from rocketmq.grpc_protocol import FilterType
from rocketmq.v5.exception import ClientException

MESSAGE_NOT_FOUND = 40401
# Seconds: for a busy machine.
REQUEST_TIMEOUT = 20

RESOLUTIONS = {"commit": TransactionResolution.COMMIT, "rollback": TransactionResolution.ROLLBACK}

clients = {}
received = []
lock = threading.Lock()
configuration = None


def tell(reply):
    with lock:
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def outgoing(m):
    out = Message()
    out.topic, out.body = m["topic"], m["body"].encode()
    if "tag" in m:
        out.tag = m["tag"]
    for key in m.get("keys", []):
        out.keys = key
    if "group" in m:
        out.message_group = m["group"]
    if "deliverAt" in m:
        # This client takes whole seconds only.
        out.delivery_timestamp = -(-m["deliverAt"] // 1000)
    for key, value in m.get("properties", {}).items():
        out.add_property(key, value)
    return out


def incoming(m, ref=0):
    message = {
        "ref": ref, "id": m.message_id, "topic": m.topic, "body": m.body.decode(), "keys": list(m.keys),
        "properties": dict(m.properties), "attempt": m.delivery_attempt,
        "tag": m.tag or "", "group": m.message_group or "",
    }
    if m.delivery_timestamp:
        message["deliverAt"] = m.delivery_timestamp
    return message


class Checker(TransactionChecker):
    def __init__(self, command):
        self.command = command

    def check(self, message):
        tell({"event": "checked", "client": self.command["client"], "messages": [incoming(message)]})
        return RESOLUTIONS.get(self.command.get("resolution"), TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED)


class Listener(MessageListener):
    def __init__(self, command):
        self.command = command
        self.seen = {}
        self.lock = threading.Lock()

    def consume(self, message):
        tell({"event": "delivered", "client": self.command["client"], "messages": [incoming(message)]})
        with self.lock:
            times = self.seen[message.body] = self.seen.get(message.body, 0) + 1
        return ConsumeResult.FAILURE if times <= self.command.get("fail", 0) else ConsumeResult.SUCCESS


def subscription(c):
    return {c["topic"]: FilterExpression(c["filter"], FilterType.SQL if c.get("sql") else FilterType.TAG)}


def producer(c):
    return keep(c, Producer(configuration, (c["topic"],), checker=Checker(c)))


def simple(c):
    return keep(c, SimpleConsumer(configuration, c["group"], subscription(c), await_duration=c["awaitMillis"] // 1000))


def push(c):
    return keep(c, PushConsumer(configuration, c["group"], Listener(c), subscription(c)))


def keep(c, client):
    clients[c["client"]] = client
    client.startup()
    return {}


def send(c):
    receipt = clients[c["client"]].send(outgoing(c["message"]))
    return {"messageId": receipt.message_id, "recallHandle": receipt.recall_handle or ""}


def transaction(c):
    p = clients[c["client"]]
    t = p.begin_transaction()
    receipt = p.send(outgoing(c["message"]), t)
    if c.get("resolution") == "commit":
        t.commit()
    elif c.get("resolution") == "rollback":
        t.rollback()
    return {"messageId": receipt.message_id}


def recall(c):
    return {"messageId": clients[c["client"]].recall_message(c["topic"], c["handle"])}


def poll(consumer, most, seconds):
    """The consumer says that it has started before the proxy knows it, which refuses until then."""
    for _ in range(50):
        try:
            return consumer.receive(most, seconds)
        except ClientException as e:
            if e.code == MESSAGE_NOT_FOUND:
                return []
            if '"settings" is null' not in str(e):
                raise
            time.sleep(0.1)
    raise TimeoutError("the proxy does not know this client")


def receive(c):
    replies = []
    for m in poll(clients[c["client"]], c["max"], c["invisibleMillis"] // 1000):
        with lock:
            received.append(m)
            ref = len(received) - 1
        replies.append(incoming(m, ref))
    return {"messages": replies}


def ack(c):
    clients[c["client"]].ack(received[c["ref"]])
    return {}


def invisible(c):
    clients[c["client"]].change_invisible_duration(received[c["ref"]], c["invisibleMillis"] // 1000)
    return {}


def close(c):
    clients[c["client"]].shutdown()
    return {}


OPERATIONS = {f.__name__: f for f in
              (producer, simple, push, send, transaction, recall, receive, ack, invisible, close)}


def serve(c):
    try:
        reply = OPERATIONS[c["op"]](c)
    except Exception as e:
        reply = {"error": f"{type(e).__name__}: {e}"}
    tell({"id": c["id"], **reply})


def main():
    global configuration
    configuration = ClientConfiguration(sys.argv[1], Credentials(), request_timeout=REQUEST_TIMEOUT)
    with ThreadPoolExecutor(max_workers=32) as workers:
        for line in sys.stdin:
            workers.submit(serve, json.loads(line))
    # The client's own threads would keep the process alive.
    sys.stdout.flush()
    os._exit(0)


main()
