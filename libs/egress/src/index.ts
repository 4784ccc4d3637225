export { createEgressGuard, type Egress, type EgressGuard, guardedDocuments } from './egress-guard.ts';
export type { BoundedFetch, DocumentFetch } from './guarded-fetch.ts';
export { bodyBytes, readBody } from './response-budget.ts';
