export type { TokenOptions } from './directory/issue-token.ts';
export type { FaultSpec } from './faults/fault-spec.ts';
export { type Sandbox, startSandbox } from './sandbox.ts';
export type { CloudAOptions } from './stores/clouda/simulate-clouda.ts';
export type { CloudCOptions } from './stores/cloudc/simulate-cloudc.ts';
export type { StoredSecret } from './stores/simulated-store.ts';
