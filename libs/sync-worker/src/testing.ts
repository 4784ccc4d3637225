export { describeDriver } from './conformance/describe-driver.ts';
export { describeSettings } from './conformance/describe-settings.ts';
export {
  type DriverWith,
  type HarnessOptions,
  type LoggingHarness,
  throttledSeconds,
} from './conformance/driver-harness.ts';
export { newValue, putRequest } from './conformance/put-request.ts';
export { retriesOf } from './conformance/retries-of.ts';
export { exchangeFailureTests, guardedExchangeTest } from './conformance/rules/exchange-tests.ts';
export { ownWords } from './conformance/rules/fault-tests.ts';
export { identityTokenTests } from './conformance/rules/identity-token-tests.ts';
export { simulatedStores } from './conformance/simulated-stores.ts';
export { untilReady } from './conformance/until-ready.ts';
export { useDriverHarness } from './conformance/use-driver-harness.ts';
