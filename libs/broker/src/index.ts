export * from './broker.ts';
export * from './embedded-broker.ts';
export * from './rabbit-broker.ts';
export { type QueueDefinition, queueDefinitions } from './rabbit-queues.ts';
export * from './relay.ts';
