import { useStarted } from '../../libs/testing/src/use-started.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';

/** Starts a service for the tests of a file, and stops it after them. */
export const useInstallation = (): Installation => useStarted(startInstallation, ({ stop }) => stop());
