import { useState } from 'react';
import { Button } from '../../../../components/button.tsx';
import { TextField } from '../../../../components/fields/text-field.tsx';
import type { Pair } from './draft.ts';

interface PairFieldsProps {
  pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
  /** Whether all values are shown. Default: each is hidden until it is requested. */
  isPlain?: boolean;
}

/** Fields for keys and their values. At most one hidden value is shown at a time. */
export function PairFields({ pairs, onChange, isPlain = false }: PairFieldsProps) {
  const [shown, setShown] = useState<number>();
  const set = (at: number, changed: Partial<Pair>) =>
    onChange(pairs.map((pair, index) => (index === at ? { ...pair, ...changed } : pair)));
  return (
    <div className="stack">
      {pairs.map((pair, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pair has no identity but its place; its key is being typed.
        <div key={at} className="pair">
          <TextField label={`Key ${at + 1}`} value={pair.key} onChange={(key) => set(at, { key })} />
          <TextField
            label={`Value ${at + 1}${pair.isJson ? ', as JSON' : ''}`}
            type={isPlain || shown === at ? 'text' : 'password'}
            autoComplete="off"
            value={pair.value}
            onChange={(value) => set(at, { value })}
          />
          <span className="row">
            {!isPlain && (
              <Button
                aria-label={`${shown === at ? 'Hide' : 'Show'} value ${at + 1}`}
                onPress={() => setShown(shown === at ? undefined : at)}
              >
                {shown === at ? 'Hide' : 'Show'}
              </Button>
            )}
            <Button
              aria-label={`Remove key ${at + 1}`}
              onPress={() => {
                setShown(undefined);
                onChange(pairs.filter((_, index) => index !== at));
              }}
            >
              Remove
            </Button>
          </span>
        </div>
      ))}
      <div>
        <Button onPress={() => onChange([...pairs, { key: '', value: '' }])}>Add a key</Button>
      </div>
    </div>
  );
}
