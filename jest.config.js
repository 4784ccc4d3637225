import { workers } from './scripts/testing/recorded-seconds.ts';

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/scripts/testing/native/environment.ts',
  testMatch: ['<rootDir>/{libs,services,tests,scripts,bench}/**/*.test.ts'],
  // These have configurations of their own, because they install programs of other languages.
  testPathIgnorePatterns: ['/node_modules/', '/\\.data/', '<rootDir>/tests/(clients|kubernetes)/'],
  modulePathIgnorePatterns: ['/\\.data/'],
  transform: {},
  runtime: '<rootDir>/scripts/testing/native/runtime.ts',
  testSequencer: '<rootDir>/scripts/testing/balanced-sequencer.ts',
  reporters: ['default', '<rootDir>/scripts/testing/progress-reporter.ts'],
  testTimeout: 300_000,
  maxWorkers: workers,
  // A module that was loaded for a test file stays in memory. A new process costs seconds.
  workerIdleMemoryLimit: '3GB',
};
