export * from './broker.ts';
export * from './embedded-broker.ts';
export * from './rabbit-broker.ts';
export * from './relay.ts';
