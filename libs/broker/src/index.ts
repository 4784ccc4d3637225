export * from './broker.ts';
export { openMemoryBroker } from './memory/memory-broker.ts';
export { openRabbit } from './rabbit/rabbit-broker.ts';
export { deadLetterQueue, type QueueDefinition, queueDefinitions } from './rabbit/rabbit-queues.ts';
export { type Relay, startRelay } from './relay/relay.ts';
export { type PublishingLoop, startPublishingLoop } from './waiting/publishing-loop.ts';
