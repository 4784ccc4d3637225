import base from '../../jest.config.js';

/** The suites that `npm run clients` runs; `npm test` leaves them out, because they need more than Node. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/clients/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/'],
};
