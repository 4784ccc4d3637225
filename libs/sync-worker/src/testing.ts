export { describeDriver } from './conformance/describe-driver.ts';
export type {
  DriverHarness,
  DriverUnderTest,
  ExternalSecret,
  FaultScenario,
} from './conformance/driver-harness.ts';
export { newValue, putRequest } from './conformance/put-request.ts';
