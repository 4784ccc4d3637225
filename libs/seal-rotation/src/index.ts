export { sealDeadlines } from './deadlines.ts';
export * from './endpoints.ts';
export { openSample } from './open-sample.ts';
export * from './seal-keys.ts';
export * from './seal-rotation.ts';
export { type SealedTable, sealedTable } from './sealed-table.ts';
