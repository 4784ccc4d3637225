/** Why a name template cannot be used. `position` counts characters from 1; undefined if the reason has none. */
export class TemplateError extends Error {
  readonly position: number | undefined;

  constructor(sentence: string, position?: number) {
    super(position === undefined ? sentence : `${sentence} at position ${position}`);
    this.name = 'TemplateError';
    this.position = position;
  }
}
