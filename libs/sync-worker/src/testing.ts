export { describeDriver } from './driver-conformance.ts';
export type { DriverHarness, DriverUnderTest, ExternalSecret, FaultScenario } from './driver-harness.ts';
export { newValue, putRequest } from './put-request.ts';
