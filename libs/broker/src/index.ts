export * from './broker.ts';
export * from './embedded/embedded-broker.ts';
export { openRabbit } from './rabbit/rabbit-broker.ts';
export { deadLetterQueue, type QueueDefinition, queueDefinitions } from './rabbit/rabbit-queues.ts';
export { type Relay, startRelay } from './relay/relay.ts';
