export * from './envelope.ts';
export * from './key-ring.ts';
export * from './sealed.ts';
