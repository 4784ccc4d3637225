/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{libs,services,tests,scripts,bench}/**/*.test.ts'],
  // These have configurations of their own, because they install programs of other languages.
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/', '<rootDir>/tests/(clients|kubernetes)/'],
  modulePathIgnorePatterns: ['/\\.data/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2024', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testTimeout: 300_000,
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
