export * from './announce-entries.ts';
export * from './claim-entry.ts';
export * from './complete-entry.ts';
export * from './destination-health.ts';
export * from './entry.ts';
export * from './queue-state.ts';
export * from './record-intents.ts';
