export * from './announce-entries.ts';
export * from './claim-entries.ts';
export * from './complete-entries.ts';
export * from './destination-entries.ts';
export * from './destination-health.ts';
export * from './entry.ts';
export * from './entry-context.ts';
export * from './find-entries.ts';
export * from './leases.ts';
export * from './locked-entries.ts';
export * from './queue-state.ts';
export {
  insertEntries,
  type NewEntry,
  requestPut,
  requestRemoval,
} from './record-intents.ts';
