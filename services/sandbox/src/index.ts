export type { TokenOptions } from './directory/issue-token.ts';
export type { FaultSpec } from './faults/fault-spec.ts';
export { type Sandbox, startSandbox } from './sandbox.ts';
export type { CloudAOptions } from './stores/clouda/simulate-clouda.ts';
export type { CloudBOptions } from './stores/cloudb/simulate-cloudb.ts';
export type { CloudCOptions } from './stores/cloudc/simulate-cloudc.ts';
export type { CodehostOptions } from './stores/codehost/simulate-codehost.ts';
export type { StoredSecret } from './stores/simulated-store.ts';
export type { WebhostOptions } from './stores/webhost/simulate-webhost.ts';
