import { simulateCloudA } from './clouda/simulate-clouda.ts';

/** Every simulated external store: the name by which a test reaches it, and what makes it. One line each. */
export const simulatedStores = {
  cloudA: simulateCloudA,
};
