export { type CloudASmOptions, cloudaSmDriver } from './driver.ts';
