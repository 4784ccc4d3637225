import { Button } from '../../../../components/button.tsx';
import { TextField } from '../../../../components/fields/text-field.tsx';
import type { Pair } from './draft.ts';

interface PairFieldsProps {
  pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
  /** Whether values are shown while they are typed. Default: they are not. */
  isPlain?: boolean;
}

/** Fields for keys and their values. */
export function PairFields({ pairs, onChange, isPlain = false }: PairFieldsProps) {
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
            type={isPlain ? 'text' : 'password'}
            autoComplete="off"
            value={pair.value}
            onChange={(value) => set(at, { value })}
          />
          <Button
            aria-label={`Remove key ${at + 1}`}
            onPress={() => onChange(pairs.filter((_, index) => index !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button onPress={() => onChange([...pairs, { key: '', value: '' }])}>Add a key</Button>
      </div>
    </div>
  );
}
