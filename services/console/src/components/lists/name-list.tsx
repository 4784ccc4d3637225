import type { ReactNode } from 'react';
import './name-list.css';

interface NameListProps {
  /** What it lists; read by screen readers. */
  label: string;
  names: readonly string[];
  row(name: string): ReactNode;
  /** Shown instead of the list if it is empty. */
  empty: ReactNode;
}

/** A list of names, one per row. */
export const NameList = ({ label, names, row, empty }: NameListProps) =>
  names.length === 0 ? (
    <p className="empty">{empty}</p>
  ) : (
    <ul className="names" aria-label={label}>
      {names.map((name) => (
        <li key={name}>{row(name)}</li>
      ))}
    </ul>
  );
