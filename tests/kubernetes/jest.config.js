import base from '../../jest.config.js';

/** The suites that `npm run kubernetes` runs; `npm test` leaves them out, because they need Go. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/kubernetes/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/'],
};
