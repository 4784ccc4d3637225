export * from './envelope.ts';
export * from './key-file.ts';
export * from './key-lines.ts';
export * from './key-ring.ts';
export * from './keyed-hash.ts';
export * from './random-bytes.ts';
export * from './sealed.ts';
export * from './secret-file.ts';
