// Drives the official Node client of RocketMQ's gRPC protocol by the commands of package clients.
'use strict';

const readline = require('node:readline');
const { Producer, SimpleConsumer, PushConsumer, ConsumeResult, FilterExpression } = require('rocketmq-client-nodejs');
const { FilterType, TransactionResolution } = require('rocketmq-client-nodejs/proto/apache/rocketmq/v2/definition_pb');

const MESSAGE_NOT_FOUND = 40401;
const RESOLUTIONS = { commit: TransactionResolution.COMMIT, rollback: TransactionResolution.ROLLBACK };

const clients = new Map();
const received = [];
const logger = { info() {}, debug() {}, warn: console.error, error: console.error, close() {} };
const options = { endpoints: process.argv[2], namespace: '', sslEnabled: false, requestTimeout: 20_000, logger };

const tell = reply => process.stdout.write(JSON.stringify(reply) + '\n');

function outgoing(m) {
  return {
    topic: m.topic, body: Buffer.from(m.body), tag: m.tag, keys: m.keys, messageGroup: m.group,
    properties: new Map(Object.entries(m.properties ?? {})),
    deliveryTimestamp: m.deliverAt ? new Date(m.deliverAt) : undefined,
  };
}

function incoming(m, ref = 0) {
  return {
    ref, id: m.messageId, topic: m.topic, body: m.body.toString(), tag: m.tag ?? '', keys: m.keys,
    properties: Object.fromEntries(m.properties), group: m.messageGroup ?? '', attempt: m.deliveryAttempt,
    deliverAt: m.deliveryTimestamp?.getTime(),
  };
}

const subscriptions = c => new Map([[c.topic, new FilterExpression(c.filter, c.sql ? FilterType.SQL : FilterType.TAG)]]);

async function keep(c, client) {
  clients.set(c.client, client);
  await client.startup();
}

function listener(c) {
  const seen = new Map();
  return {
    consume(m) {
      const body = m.body.toString();
      tell({ event: 'delivered', client: c.client, messages: [incoming(m)] });
      seen.set(body, (seen.get(body) ?? 0) + 1);
      return seen.get(body) <= (c.fail ?? 0) ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS;
    },
  };
}

function checker(c) {
  return {
    async check(m) {
      tell({ event: 'checked', client: c.client, messages: [incoming(m)] });
      return RESOLUTIONS[c.resolution] ?? TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED;
    },
  };
}

const operations = {
  producer: c => keep(c, new Producer({ ...options, topic: c.topic, checker: checker(c) })),
  simple: c => keep(c, new SimpleConsumer({
    ...options, consumerGroup: c.group, subscriptions: subscriptions(c), awaitDuration: c.awaitMillis })),
  push: c => keep(c, new PushConsumer({
    ...options, consumerGroup: c.group, subscriptions: subscriptions(c), messageListener: listener(c) })),
  async send(c) {
    const receipt = await clients.get(c.client).send(outgoing(c.message));
    return { messageId: receipt.messageId, recallHandle: receipt.recallHandle };
  },
  async transaction(c) {
    const p = clients.get(c.client);
    const t = p.beginTransaction();
    const receipt = await p.send(outgoing(c.message), t);
    if (c.resolution === 'commit') await t.commit();
    if (c.resolution === 'rollback') await t.rollback();
    return { messageId: receipt.messageId };
  },
  async recall(c) {
    return { messageId: (await clients.get(c.client).recallMessage(c.topic, c.handle)).messageId };
  },
  async receive(c) {
    let messages = [];
    try {
      messages = await clients.get(c.client).receive(c.max, c.invisibleMillis);
    } catch (e) {
      if (e.code !== MESSAGE_NOT_FOUND) throw e;
    }
    return { messages: messages.map(m => incoming(m, received.push(m) - 1)) };
  },
  ack: c => clients.get(c.client).ack(received[c.ref]),
  invisible: c => clients.get(c.client).changeInvisibleDuration(received[c.ref], c.invisibleMillis),
  close: c => clients.get(c.client).shutdown(),
};

async function serve(c) {
  try {
    tell({ id: c.id, ...await operations[c.op](c) });
  } catch (e) {
    tell({ id: c.id, error: `${e.name}: ${e.message}` });
  }
}

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', line => serve(JSON.parse(line)));
lines.on('close', () => process.exit(0));
