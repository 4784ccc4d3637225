export { describeDriver } from './driver-conformance.ts';
export type { BadDay, DriverHarness, DriverUnderTest, ExternalSecret } from './driver-harness.ts';
export { newValue, putRequest } from './put-request.ts';
