"""Writes plain values (dict, list, int, float, str, bool, None) in ordinary notations, as bytes.

Where the standard library has a writer, that is used; the others are written from the specification of the notation.
"""
import configparser, csv, io, json, pprint, re, struct
import xml.etree.ElementTree as ET

SIMPLE = re.compile(r'^[A-Za-z_][A-Za-z0-9_]*$')


def json_text(v, style):
    if style == 'indent': return json.dumps(v, indent=2)
    if style == 'tabs': return json.dumps(v, indent='\t', ensure_ascii=False)
    if style == 'tight': return json.dumps(v, separators=(',', ':'))
    return json.dumps(v, ensure_ascii=False)


def xml_word(v):
    return 'true' if v is True else 'false' if v is False else str(v)


def xml_fill(e, v, style, singular):
    """Fills an element with a value."""
    if isinstance(v, dict):
        for k, x in v.items():
            if x is None: continue
            if isinstance(x, (dict, list)):
                if isinstance(x, list) and style['bare'] and all(isinstance(y, dict) for y in x):
                    for y in x: xml_fill(ET.SubElement(e, singular(k)), y, style, singular)
                elif isinstance(x, list) and style['vec'] and not any(isinstance(y, (dict, str)) for y in x):
                    if style['attr']: e.set(k, style['vec'].join(map(xml_word, x)))
                    else: ET.SubElement(e, k).text = style['vec'].join(map(xml_word, x))
                else: xml_fill(ET.SubElement(e, k), x, style, singular)
            elif style['attr']: e.set(k, xml_word(x))
            else: ET.SubElement(e, k).text = xml_word(x)
    elif isinstance(v, list):
        for x in v: xml_fill(ET.SubElement(e, singular(e.tag)), x, style, singular)
    else:
        e.text = xml_word(v)


def xml_text(v, style, singular, root):
    e = ET.Element(root)
    xml_fill(e, v, style, singular)
    if style['indent']: ET.indent(e, style['indent'])
    return ET.tostring(e, encoding='unicode', xml_declaration=style['head'])


def yaml_word(v):
    if v is None: return 'null'
    if v is True or v is False: return str(v).lower()
    if isinstance(v, str):
        return v if re.match(r'^[A-Za-z][A-Za-z_ ]*[A-Za-z]$', v) and v.lower() not in ('null', 'true', 'false', 'yes', 'no', 'on', 'off', 'nan', 'inf') else json.dumps(v)
    if isinstance(v, float) and 'e' in repr(v) and '.' not in repr(v): return repr(v).replace('e', '.0e')
    return repr(v)


def yaml_text(v, style, indent=''):
    """Block style; style: 'flow' for lists of scalars on one line, 'flush' for dashes that are not indented."""
    out = []
    if isinstance(v, dict):
        for k, x in v.items():
            k = k if SIMPLE.match(str(k)) or isinstance(k, int) else json.dumps(k)
            if isinstance(x, (dict, list)) and x:
                if isinstance(x, list) and style['flow'] and not any(isinstance(y, (dict, list)) for y in x):
                    out.append('%s%s: [%s]' % (indent, k, ', '.join(map(yaml_word, x))))
                else:
                    deeper = indent + ('' if isinstance(x, list) and style['flush'] else '  ')
                    out += ['%s%s:' % (indent, k), yaml_text(x, style, deeper)]
            else: out.append('%s%s: %s' % (indent, k, '[]' if x == [] else '{}' if x == {} else yaml_word(x)))
    else:
        for x in v:
            if isinstance(x, (dict, list)) and x:
                text = yaml_text(x, style, indent + '  ')
                out.append(indent + '- ' + text[len(indent) + 2:])
            else: out.append('%s- %s' % (indent, yaml_word(x) if x not in ([], {}) else '[]'))
    return '\n'.join(out)


def toml_word(v):
    if isinstance(v, bool): return str(v).lower()
    if isinstance(v, str): return json.dumps(v)
    if isinstance(v, list): return '[' + ', '.join(map(toml_word, v)) + ']'
    if isinstance(v, dict): return '{ ' + ', '.join('%s = %s' % (toml_key(k), toml_word(x)) for k, x in v.items() if x is not None) + ' }'
    return repr(v)


def toml_key(k): return str(k) if re.match(r'^[A-Za-z0-9_-]+$', str(k)) else json.dumps(k)


def toml_text(v, path=()):
    """Tables for dicts, [[arrays of tables]] for lists of dicts at any depth above rows, inline tables within rows."""
    out, later = [], []
    for k, x in v.items():
        if x is None: continue
        if isinstance(x, dict) and len(path) < 3: later.append((k, x))
        elif isinstance(x, list) and x and isinstance(x[0], dict) and len(path) < 2: later.append((k, x))
        else: out.append('%s = %s' % (toml_key(k), toml_word(x)))
    for k, x in later:
        name = '.'.join(map(toml_key, path + (k,)))
        if isinstance(x, dict): out += ['', '[%s]' % name, toml_text(x, path + (k,))]
        else:
            for y in x: out += ['', '[[%s]]' % name, toml_text(y, path + (k,) * 1)]
    return '\n'.join(out)


def lua_text(v, style, indent=''):
    nl, inner = ('\n', indent + '\t') if style['indent'] else (' ', '')
    if v is None: return 'nil'
    if v is True or v is False: return str(v).lower()
    if isinstance(v, str): return json.dumps(v, ensure_ascii=False)
    if not isinstance(v, (dict, list)): return repr(v)
    if not v: return '{}'
    parts = []
    for k, x in (v.items() if isinstance(v, dict) else enumerate(v, 1)):
        key = '' if isinstance(v, list) and not style['numbered'] else '[%s] = ' % k if isinstance(k, int) else '%s = ' % k if SIMPLE.match(k) else '[%s] = ' % json.dumps(k)
        parts.append(inner + key + lua_text(x, style, inner))
    return '{' + nl + (',' + nl).join(parts) + (',' if style['indent'] else '') + nl + (indent if style['indent'] else '') + '}'


def python_text(v, style):
    return pprint.pformat(v, width=100, sort_dicts=False) if style['pretty'] else repr(v)


def ruby_text(v, style, name='State'):
    """inspect of Ruby: hashes before and after 3.4, or structs."""
    if isinstance(v, dict):
        if style == 'struct' and v and all(SIMPLE.match(str(k)) for k in v): return '#<struct %s %s>' % (name, ', '.join('%s=%s' % (k, ruby_text(x, style, k.capitalize())) for k, x in v.items()))
        key = lambda k: '%s=>' % k if not isinstance(k, str) else ':%s=>' % k if style == 'symbols' and SIMPLE.match(k) else '%s: ' % k if style == 'short' and SIMPLE.match(k) else '%s => ' % json.dumps(k)
        return '{' + ', '.join(key(k) + ruby_text(x, style, name) for k, x in v.items()) + '}'
    if isinstance(v, list): return '[' + ', '.join(ruby_text(x, style, name) for x in v) + ']'
    return 'nil' if v is None else json.dumps(v, ensure_ascii=False)


def clojure_text(v, comma):
    if isinstance(v, dict): return '{' + comma.join('%s %s' % (':' + k if SIMPLE.match(str(k)) else json.dumps(str(k)), clojure_text(x, comma)) for k, x in v.items()) + '}'
    if isinstance(v, list): return '[' + ' '.join(clojure_text(x, comma) for x in v) + ']'
    return 'nil' if v is None else json.dumps(v, ensure_ascii=False)


def erlang_text(v):
    """~p of Erlang, in one line."""
    if isinstance(v, dict): return '#{' + ','.join('%s => %s' % (k if re.match(r'^[a-z][a-z0-9_]*$', str(k)) or not isinstance(k, str) else "'%s'" % k, erlang_text(x)) for k, x in v.items()) + '}'
    if isinstance(v, list): return '[' + ','.join(map(erlang_text, v)) + ']'
    return 'undefined' if v is None else str(v).lower() if isinstance(v, bool) else '<<%s/utf8>>' % json.dumps(v, ensure_ascii=False) if isinstance(v, str) else repr(v)


def sexp_text(v, sep):
    """A record and a map of OCaml's sexplib are lists of pairs."""
    if isinstance(v, dict): return '(' + sep.join('(%s %s)' % (k if SIMPLE.match(str(k)) or not isinstance(k, str) else json.dumps(k), sexp_text(x, sep)) for k, x in v.items()) + ')'
    if isinstance(v, list): return '(' + sep.join(sexp_text(x, sep) for x in v) + ')'
    return '()' if v is None else str(v).lower() if isinstance(v, bool) else v if isinstance(v, str) and SIMPLE.match(v) else json.dumps(v, ensure_ascii=False)


def php_text(v, indent=''):
    """print_r of PHP: a value is unquoted up to the end of its line."""
    if not isinstance(v, (dict, list)): return '' if v is None or v is False else '1' if v is True else str(v)
    return 'Array\n%s(\n' % indent + ''.join('%s    [%s] => %s\n' % (indent, k, php_text(x, indent + '        ')) for k, x in (v.items() if isinstance(v, dict) else enumerate(v))) + indent + ')\n'


def proto_text(v, singular, indent=''):
    out = []
    for k, x in v.items():
        for y in x if isinstance(x, list) else [x]:
            name = singular(k) if isinstance(x, list) else k
            if y is None: continue
            if isinstance(y, dict): out += ['%s%s {' % (indent, name), proto_text(y, singular, indent + '  '), indent + '}']
            else: out.append('%s%s: %s' % (indent, name, json.dumps(y) if isinstance(y, (str, bool)) else repr(y)))
    return '\n'.join(l for l in out if l)


def path_lines(v, style, path=''):
    """a.b[7].c = v"""
    if isinstance(v, (dict, list)) and v:
        for k, x in (v.items() if isinstance(v, dict) else enumerate(v)):
            step = '[%s]' % k if isinstance(v, list) and style['brackets'] or isinstance(k, int) and style['brackets'] else '.%s' % k
            yield from path_lines(x, style, path + step)
    else:
        text = json.dumps(v, ensure_ascii=False) if style['quoted'] or not isinstance(v, str) else v
        yield path.lstrip('.') + style['sep'] + text


def indented_text(v, style, indent=''):
    """Headings and "key: value" as games print them for people."""
    out = []
    for k, x in v.items():
        if isinstance(x, dict): out += ['%s%s:' % (indent, k), indented_text(x, style, indent + style['indent'])]
        elif isinstance(x, list) and x and isinstance(x[0], dict):
            out.append('%s%s:' % (indent, k))
            for i, y in enumerate(x):
                out += ['%s%s%s:' % (indent, style['indent'], i), indented_text(y, style, indent + 2 * style['indent'])]
        elif isinstance(x, list): out.append('%s%s: (%s)' % (indent, k, ', '.join(map(str, x))))
        else: out.append('%s%s: %s' % (indent, k, x))
    return '\n'.join(l for l in out if l)


def msgpack(v, style):
    """https://github.com/msgpack/msgpack/blob/master/spec.md"""
    if v is None: return b'\xc0'
    if v is True: return b'\xc3'
    if v is False: return b'\xc2'
    if isinstance(v, float):
        return b'\xca' + struct.pack('>f', v) if style['f32'] and struct.unpack('>f', struct.pack('>f', v))[0] == v else b'\xcb' + struct.pack('>d', v)
    if isinstance(v, int):
        if 0 <= v < 128: return bytes([v])
        if -32 <= v < 0: return struct.pack('b', v)
        if v >= 0:
            for code, size, fmt in ((0xcc, 1, '>B'), (0xcd, 2, '>H'), (0xce, 4, '>I'), (0xcf, 8, '>Q')):
                if v < 1 << 8 * size: return bytes([code]) + struct.pack(fmt, v)
        for code, size, fmt in ((0xd0, 1, '>b'), (0xd1, 2, '>h'), (0xd2, 4, '>i'), (0xd3, 8, '>q')):
            if v >= -(1 << 8 * size - 1): return bytes([code]) + struct.pack(fmt, v)
    if isinstance(v, str):
        b = v.encode()
        n = len(b)
        head = bytes([0xa0 | n]) if n < 32 else b'\xd9' + bytes([n]) if n < 256 else b'\xda' + struct.pack('>H', n)
        return head + b
    n = len(v)
    fix, two, four = (0x90, b'\xdc', b'\xdd') if isinstance(v, list) else (0x80, b'\xde', b'\xdf')
    head = bytes([fix | n]) if n < 16 else two + struct.pack('>H', n) if n < 65536 else four + struct.pack('>I', n)
    if isinstance(v, list): return head + b''.join(msgpack(x, style) for x in v)
    return head + b''.join(msgpack(k, style) + msgpack(x, style) for k, x in v.items())


def cbor_head(major, n):
    if n < 24: return bytes([major << 5 | n])
    for code, size, fmt in ((24, 1, '>B'), (25, 2, '>H'), (26, 4, '>I'), (27, 8, '>Q')):
        if n < 1 << 8 * size: return bytes([major << 5 | code]) + struct.pack(fmt, n)


def cbor(v, style):
    """RFC 8949"""
    if v is None: return b'\xf6'
    if v is True: return b'\xf5'
    if v is False: return b'\xf4'
    if isinstance(v, float):
        if style['f16'] and abs(v) < 2048 and v * 4 == int(v * 4) and struct.unpack('>e', struct.pack('>e', v))[0] == v: return b'\xf9' + struct.pack('>e', v)
        return b'\xfb' + struct.pack('>d', v)
    if isinstance(v, int): return cbor_head(0, v) if v >= 0 else cbor_head(1, -1 - v)
    if isinstance(v, str): return cbor_head(3, len(v.encode())) + v.encode()
    major = 4 if isinstance(v, list) else 5
    body = b''.join(cbor(x, style) for x in v) if major == 4 else b''.join(cbor(k, style) + cbor(x, style) for k, x in v.items())
    return bytes([major << 5 | 31]) + body + b'\xff' if style['indefinite'] else cbor_head(major, len(v)) + body


def cells(row, prefix=''):
    """A row with nested values as flat cells: pos.x, vel.0."""
    out = {}
    for k, v in (row.items() if isinstance(row, dict) else enumerate(row)):
        if isinstance(v, (dict, list)): out.update(cells(v, '%s%s.' % (prefix, k)))
        else: out['%s%s' % (prefix, k)] = v
    return out


def csv_text(rows, delimiter=','):
    """Rows that are dicts, under one header of all their names."""
    head = list(dict.fromkeys(k for row in rows for k in row))
    out = io.StringIO()
    w = csv.DictWriter(out, head, delimiter=delimiter, lineterminator='\n', restval='')
    w.writeheader()
    w.writerows(rows)
    return out.getvalue()


def ini_text(sections):
    c = configparser.ConfigParser(interpolation=None)
    c.optionxform = str
    for name, row in sections: c[name] = {k: str(v) for k, v in row.items()}
    out = io.StringIO()
    c.write(out)
    return out.getvalue()
