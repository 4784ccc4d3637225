export * from './key-services.ts';
export * from './open-keys.ts';
