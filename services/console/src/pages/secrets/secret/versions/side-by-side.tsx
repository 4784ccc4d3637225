import { Button } from '../../../../components/button.tsx';
import { Loading } from '../../../../components/loading.tsx';
import { ProblemNotice } from '../../../../components/problem-notice.tsx';
import { type SecretRef, useKeys } from '../../queries.ts';
import { useComparison } from './comparison.ts';
import { type Reveal, useReveal } from './reveal.ts';
import { RevealCell } from './reveal-cell.tsx';
import type { Difference } from './version-state.ts';

interface SideBySideProps {
  secret: SecretRef;
  /** One or two versions, the older one first. */
  versions: readonly number[];
  keysFrom: 'subkeys' | 'data';
  readsValues: boolean;
}

/** The keys of one or two versions. Values are hidden, and one at a time is shown on request. */
export function SideBySide({ secret, versions, keysFrom, readsValues }: SideBySideProps) {
  const [older, newer = older] = versions as [number, number?];
  const keysOf = [useKeys(secret, older, keysFrom), useKeys(secret, newer, keysFrom)] as const;
  const reveal = useReveal(secret);
  const comparison = useComparison(secret, older, newer);
  const error = keysOf[0].error ?? keysOf[1].error;
  if (error) return <ProblemNotice title="The keys could not be read." error={error} />;
  const [olderKeys, newerKeys] = [keysOf[0].data, keysOf[1].data];
  if (olderKeys === undefined || newerKeys === undefined) return <Loading what="the keys" />;
  const keys = [...new Set([...olderKeys, ...newerKeys])].sort();
  return (
    <div className="stack">
      <h3>{versions.length === 1 ? `Version ${older}` : `Versions ${older} and ${newer}`}</h3>
      {versions.length === 2 && readsValues && (
        <div>
          <Button isPending={comparison.isPending} onPress={comparison.compare}>
            Compare, without showing values
          </Button>
        </div>
      )}
      {comparison.error !== undefined && (
        <ProblemNotice title="The versions could not be compared." error={comparison.error} />
      )}
      <ValueTable
        keys={keys}
        versions={versions}
        has={(key, version) => (version === newer ? newerKeys : olderKeys).includes(key)}
        differences={comparison.differences}
        reveal={readsValues ? reveal : undefined}
      />
    </div>
  );
}

interface ValueTableProps {
  keys: readonly string[];
  versions: readonly number[];
  has(key: string, version: number): boolean;
  differences: Readonly<Record<string, Difference>> | undefined;
  /** Undefined if the token may not read values. */
  reveal: Reveal | undefined;
}

const ValueTable = ({ keys, versions, has, differences, reveal }: ValueTableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard (WCAG 2.1.1).
  <section className="table-region" aria-label="Keys and values" tabIndex={0}>
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Key</th>
          {versions.map((version) => (
            <th key={version} scope="col">
              Version {version}
            </th>
          ))}
          {differences && <th scope="col">Difference</th>}
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            {versions.map((version) => (
              <td key={version}>
                {has(key, version) && <RevealCell name={key} version={version} reveal={reveal} />}
              </td>
            ))}
            {differences && <td>{differences[key]}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
