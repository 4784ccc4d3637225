import { simulateCloudA } from './clouda/simulate-clouda.ts';
import { simulateCloudB } from './cloudb/simulate-cloudb.ts';
import { simulateCloudC } from './cloudc/simulate-cloudc.ts';
import { simulateCodehost } from './codehost/simulate-codehost.ts';
import { simulateWebhost } from './webhost/simulate-webhost.ts';

/**
 * Every simulated external store. To add one, create a folder beside `clouda` with a function
 * `(context: SimulationContext, options?) => SimulatedStore`, and add a line here. `startSandbox` then returns the store
 * as `<key>`, its endpoint as `<key>Url` and its credentials as `credentials.<key>`.
 */
export const simulatedStores = {
  cloudA: simulateCloudA,
  cloudB: simulateCloudB,
  cloudC: simulateCloudC,
  codehost: simulateCodehost,
  webhost: simulateWebhost,
};
