import { Button } from '../../../../components/button.tsx';
import { ProblemNotice } from '../../../../components/problem-notice.tsx';
import type { Reveal } from './reveal.ts';

interface RevealCellProps {
  /** The key. */
  name: string;
  /** Undefined for the newest version. */
  version: number | undefined;
  /** Undefined if the token may not read values. */
  reveal: Reveal | undefined;
}

/** A value that is hidden until it is requested. */
export function RevealCell({ name, version, reveal }: RevealCellProps) {
  const place = { key: name, version };
  const of = version === undefined ? name : `${name}, version ${version}`;
  const text = reveal?.shown(place);
  if (reveal === undefined) return <span aria-hidden="true">•••••</span>;
  if (text !== undefined)
    return (
      <span className="row">
        <code className="value">{text}</code>
        <Button aria-label={`Hide ${of}`} onPress={reveal.hide}>
          Hide
        </Button>
      </span>
    );
  const error = reveal.error(place);
  return (
    <span className="row">
      <span aria-hidden="true">•••••</span>
      <Button
        aria-label={`Show ${of}`}
        isPending={reveal.isPending(place)}
        onPress={() => reveal.show(place)}
      >
        Show
      </Button>
      {error !== undefined && <ProblemNotice title="The value could not be read." error={error} />}
    </span>
  );
}
