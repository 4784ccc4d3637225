import { cpus, totalmem } from 'node:os';

/** Returns lines with the date, the machine and the versions. */
export function describeMachine(versions: { postgres: string; rabbitmq: string }): string[] {
  const processors = cpus();
  const gibibytes = (totalmem() / 2 ** 30).toFixed(1);
  return [
    `date: ${new Date().toISOString()}`,
    `machine: ${processors.length} cores, ${processors[0]?.model ?? 'unknown CPU'}, ${gibibytes} GiB`,
    `Node ${process.versions.node}, Postgres ${versions.postgres}, RabbitMQ ${versions.rabbitmq}`,
  ];
}
