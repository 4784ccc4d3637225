export { createEgressGuard, type Egress, type EgressGuard } from './egress-guard.ts';
export type { BoundedFetch } from './guarded-fetch.ts';
export { bodyBytes, readBody } from './response-budget.ts';
