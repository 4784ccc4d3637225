export { describeDriver, newValue, putRequest } from './driver-conformance.ts';
export type { BadDay, DriverHarness, DriverUnderTest, ExternalSecret } from './driver-harness.ts';
