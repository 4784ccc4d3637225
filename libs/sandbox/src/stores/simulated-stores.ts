import { simulateCloudA } from './clouda/simulate-clouda.ts';
import { simulateWebhost } from './webhost/simulate-webhost.ts';
import { simulateCodehost } from './codehost/simulate-codehost.ts';
import { simulateCloudB } from './cloudb/simulate-cloudb.ts';
import { simulateCloudC } from './cloudc/simulate-cloudc.ts';

/**
 * Every simulated external store. To add one, create a folder beside `clouda` with a function
 * `(context: SimulationContext, options?) => SimulatedStore`, and add a line here. `startSandbox` then returns the store
 * as `<key>`, its endpoint as `<key>Url` and its credentials as `credentials.<key>`.
 */
export const simulatedStores = {
  cloudA: simulateCloudA,
  webhost: simulateWebhost,
  codehost: simulateCodehost,
  cloudB: simulateCloudB,
  cloudC: simulateCloudC,
};
