import { useState } from 'react';
import { Button } from '../button.tsx';

/** Where a page of a list begins. `Cursor` is what the API takes to continue, such as a name. */
export interface Pages<Cursor> {
  /** Undefined for the first page. */
  after: Cursor | undefined;
  /** Number of the page, from 1. */
  number: number;
  forward(next: Cursor): void;
  back(): void;
  reset(): void;
}

/** The state of a paged list: the beginnings of the pages so far, so that it is possible to go back. */
export function usePages<Cursor>(): Pages<Cursor> {
  const [cursors, setCursors] = useState<readonly Cursor[]>([]);
  return {
    after: cursors.at(-1),
    number: cursors.length + 1,
    forward: (next) => setCursors([...cursors, next]),
    back: () => setCursors(cursors.slice(0, -1)),
    reset: () => setCursors([]),
  };
}

interface PageButtonsProps<Cursor> {
  pages: Pages<Cursor>;
  /** Where the next page begins; undefined on the last one. */
  next: Cursor | undefined;
}

/** The buttons for the previous and the next page; nothing if there is only one. */
export function PageButtons<Cursor>({ pages, next }: PageButtonsProps<Cursor>) {
  if (pages.number === 1 && next === undefined) return null;
  return (
    <nav className="page-buttons" aria-label="Pages">
      <Button isDisabled={pages.number === 1} onPress={pages.back}>
        Previous page
      </Button>
      <span aria-live="polite">Page {pages.number}</span>
      <Button isDisabled={next === undefined} onPress={() => next !== undefined && pages.forward(next)}>
        Next page
      </Button>
    </nav>
  );
}
