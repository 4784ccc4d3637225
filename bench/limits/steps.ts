import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import pg from 'pg';

/** Returns the milliseconds of each of `count` sequential commits of one small row. */
export async function commitTimes(databaseUrl: string, count: number): Promise<number[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      'create table if not exists bench_commits (id uuid primary key, created_at timestamptz)',
    );
    const insert = { name: 'insert', text: 'insert into bench_commits values ($1, now())' };
    return await timesOf(count, () => client.query({ ...insert, values: [randomUUID()] }));
  } finally {
    await client.end();
  }
}

/** Returns the milliseconds of each of `count` sequential, confirmed publications to a durable quorum queue. */
export async function publishTimes(amqpUrl: string, count: number): Promise<number[]> {
  const connection = await connect(amqpUrl);
  try {
    const channel = await connection.createConfirmChannel();
    const queue = `bench-${randomUUID()}`;
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    const message = Buffer.from(JSON.stringify({ entry_id: randomUUID() }));
    const times = await timesOf(count, async () => {
      channel.sendToQueue(queue, message, { persistent: true });
      await channel.waitForConfirms();
    });
    await channel.deleteQueue(queue);
    return times;
  } finally {
    await connection.close();
  }
}

async function timesOf(count: number, step: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  await step();
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    await step();
    times.push(performance.now() - began);
  }
  return times;
}
