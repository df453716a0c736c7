import * as v from 'valibot';
import { show, showName } from '../show.js';

/** What does not fit the schema, in one sentence of `file`'s own terms. */
export function schemaFault(file: string, issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  const field = path === null ? 'the file' : showName(path);
  if (issue.expected === 'never') return `${field} is not a field of ${file}`;
  if (issue.received === 'undefined') return `${field} is missing`;
  if (issue.type === 'non_empty') return `${field} is empty`;
  if (issue.type === 'max_length')
    return `${field} has length ${issue.received}, and ${requirement(issue)} is allowed`;
  return `${field} is ${valueInWords(issue)}; it must be ${requirement(issue)}`;
}

function valueInWords({ input, received }: v.BaseIssue<unknown>): string {
  return typeof input === 'string' ? show(input) : inWords(received);
}

/** Requirements that the validator has no words for. */
const BY_TYPE: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  safe_integer: 'a whole number',
  finite: 'finite',
};

const BY_SIGN: Readonly<Record<string, string>> = {
  '>=': 'at least ',
  '<=': 'at most ',
  '>': 'more than ',
  '<': 'less than ',
};

function requirement({ type, expected }: v.BaseIssue<unknown>): string {
  return BY_TYPE[type] ?? inWords(expected ?? type).replace(/^[<>]=?/, (sign) => BY_SIGN[sign] ?? sign);
}

const KINDS: Readonly<Record<string, string>> = {
  Object: 'an object',
  Array: 'a list',
  number: 'a number',
  string: 'a text',
};

/** The validator's name of a kind or value, or of several of them, in words. */
function inWords(name: string): string {
  return (
    KINDS[name] ??
    name
      .replace(/^\((.*)\)$/, '$1')
      .replaceAll(' | ', ' or ')
      .replaceAll('"', "'")
  );
}
