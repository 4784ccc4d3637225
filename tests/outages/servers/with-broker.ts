import { type Broker, openRabbit } from '../../../libs/broker/src/index.ts';
import { silentLogger } from '../../../libs/telemetry/src/index.ts';
import type { Distributed } from '../../harness/distributed.ts';

/** Connects to the system's RabbitMQ, runs `work` and closes the connection. */
export async function withBroker<T>(
  { rabbit }: Distributed,
  work: (broker: Broker) => Promise<T>,
): Promise<T> {
  const broker = openRabbit({ url: rabbit.url, log: silentLogger() });
  return work(broker).finally(() => broker.close());
}
