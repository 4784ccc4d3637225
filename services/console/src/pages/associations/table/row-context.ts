import { createContext, useContext } from 'react';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import type { SecretRef } from '../association-api.ts';

/** Values that the cells of the table need in addition to their row. */
interface RowContextValue {
  destination: DestinationRef;
  mayRetry: boolean;
  mayInspect: boolean;
  mayRemove: boolean;
  mayReadHistory: boolean;
  /** The associations of this page of the table. */
  shown: readonly SecretRef[];
  isSelected(secret: SecretRef): boolean;
  select(secrets: readonly SecretRef[], isSelected: boolean): void;
  retry(secret: SecretRef): void;
  /** Has its external secrets looked at now. */
  inspect(secret: SecretRef): void;
  remove(secret: SecretRef): void;
}

export const RowContext = createContext<RowContextValue | undefined>(undefined);

export function useRowContext(): RowContextValue {
  const value = useContext(RowContext);
  if (value === undefined) throw new Error('there is no table');
  return value;
}
