"""Writes vector kernels as PTX: one kernel covers several operations, one thread one tuple of operands.

A kernel reads its operand words from in[word * n + thread] and writes its answers to out[word * n + thread]. An operation
is a line of PTX in which
    $a $b $c ...      are the kernel's operands (32 or 64 bits as their kind says); $ah and $ag the low and high half of a
    $d $e $f $g       are 32-bit answers, $D $E 64-bit ones, $h 16-bit, $p $q predicates (stored as 0 or 1)
    $t0 $t1 ...       are 32-bit temporaries, $T0.. 64-bit, $u0.. 16-bit, $x0.. predicates
    $k0 .. $k7        are 32-bit kernel parameters (so machine code reads them from constant bank 0), $K0 .. $K3 64-bit ones
A kernel with memory also has the addresses of 64 bytes of each thread ($mine in shared, $local in local memory, $global), of 64 bytes
of its warp ($ours in shared, $world in global memory), and of 16 bytes of each thread that lie next to its neighbours' ($row in
shared memory; $rows is lane 0's). Blocks have 128 threads.
"""
import re

WIDE = {"u64", "f64", "mma_f64"}
ANSWERS = {"d": 1, "e": 1, "f": 1, "g": 1, "D": 2, "E": 2, "h": 1, "p": 1, "q": 1}
TYPES = {"t": "b32", "T": "b64", "u": "b16", "x": "pred"}
ANSWER_TYPES = {"d": "b32", "e": "b32", "f": "b32", "g": "b32", "D": "b64", "E": "b64", "h": "b16", "p": "pred", "q": "pred"}


MEMORY = """
 .shared .align 16 .b8 box[10496]; .local .align 16 .b8 stack[64];
 .reg .b32 mine, ours, row, rows, local, w; .reg .b64 global, world;
 mov.u32 s, %tid.x; mov.u32 w, box; mad.lo.u32 mine, s, 64, w;
 shl.b32 row, s, 4; add.u32 row, row, w; add.u32 row, row, 8192;
 shr.u32 s, s, 5; mad.lo.u32 ours, s, 64, w; add.u32 ours, ours, 10240; mad.lo.u32 rows, s, 512, w; add.u32 rows, rows, 8192;
 mov.u32 local, stack; mov.u64 at, scratch; mad.wide.u32 global, i, 64, at;
 shr.u32 s, i, 5; add.u32 s, s, 4096; mad.wide.u32 world, s, 64, at;""".strip("\n").split("\n")


class Kernel:
    """One kernel: its name, its operands ("a": kind), its operations (name, text, first answer word, words)."""

    def __init__(self, name, operands, threads=2048, memory=False):
        self.name, self.operands, self.threads, self.memory = name, operands, threads, memory
        self.operations, self.words = [], 0

    def add(self, name, text):
        answers = []
        for found in re.finditer(r"\$([defgDEhpq])(?![0-9a-z])", text):
            if found.group(1) not in answers:
                answers.append(found.group(1))
        words = sum(ANSWERS[a] for a in answers)
        assert words, f"{name}: no answer in {text}"
        self.operations.append((name, text, self.words, words, answers))
        self.words += words

    def without(self, rejected):
        """The kernel less the operations that an architecture's ptxas rejects; answer words keep their places."""
        kept = Kernel(self.name, self.operands, self.threads, self.memory)
        kept.words = self.words
        kept.operations = [o for o in self.operations if f"{self.name}/{o[0]}" not in rejected]
        return kept

    def ptx(self):
        out = [f".visible .entry {self.name}(.param .u64 pin, .param .u64 pout, .param .u32 pn, .param .align 8 .b8 pk[32])", "{",
               " .reg .b64 in, out, at; .reg .b32 n, i, s; .reg .b32 block, threads;",
               " ld.param.u64 in, [pin]; ld.param.u64 out, [pout]; ld.param.u32 n, [pn];",
               " mov.u32 block, %ctaid.x; mov.u32 threads, %ntid.x; mov.u32 i, %tid.x; mad.lo.u32 i, block, threads, i;"]
        for k in range(8):
            out.append(f" .reg .b32 k{k}; ld.param.u32 k{k}, [pk+{4 * k}];")
        for k in range(4):
            out.append(f" .reg .b64 K{k}; ld.param.u64 K{k}, [pk+{8 * k}];")
        word = 0
        for name, kind in self.operands.items():
            for part in range(2 if kind in WIDE else 1):
                out.append(f" .reg .b32 {name}w{part}; mad.lo.u32 s, n, {word}, i; mad.wide.u32 at, s, 4, in; ld.global.u32 {name}w{part}, [at];")
                word += 1
            if kind in WIDE:
                out.append(f" .reg .b64 {name}; mov.b64 {name}, {{{name}w0, {name}w1}};")
            else:
                out.append(f" .reg .b32 {name}; mov.b32 {name}, {name}w0;")
                out.append(f" .reg .b16 {name}h, {name}g; mov.b32 {{{name}h, {name}g}}, {name};")
        if self.memory:
            out += MEMORY
        for name, text, first, _, answers in self.operations:
            out.append(f" // operation {self.name}/{name}")
            registers = {}
            for token in re.findall(r"\$([A-Za-z]\w*)", text):
                if token in answers:
                    registers[token] = ANSWER_TYPES[token]
                elif re.fullmatch(r"[tTux]\d", token):
                    registers[token] = TYPES[token[0]]
            body = re.sub(r"\$([A-Za-z]\w*)", lambda m: ("v" + m.group(1)) if m.group(1) in registers else m.group(1), text)
            out.append(" {" + "".join(f" .reg .{kind} v{token};" for token, kind in registers.items()))
            out.append("  .reg .b32 w0, w1;")
            out.append("  " + body)
            at = first
            for answer in answers:
                kind = ANSWER_TYPES[answer]
                if kind == "pred":
                    parts = [f"selp.u32 w0, 1, 0, v{answer};"]
                elif kind == "b16":
                    parts = [f"cvt.u32.u16 w0, v{answer};"]
                elif kind == "b64":
                    parts = [f"mov.b64 {{w0, w1}}, v{answer};"]
                else:
                    parts = [f"mov.b32 w0, v{answer};"]
                out.append("  " + parts[0])
                for part in range(ANSWERS[answer]):
                    out.append(f"  mad.lo.u32 s, n, {at}, i; mad.wide.u32 at, s, 4, out; st.global.u32 [at], w{part};")
                    at += 1
            out.append(" }")
        out += [" ret;", "}"]
        return "\n".join(out)

    def manifest(self, file, rejected):
        """The kernel's lines of the table; `rejected` has each architecture's set of operations."""
        lines = [f"kernel {self.name} {file} {self.threads} {self.words} {','.join(self.operands.values())}"]
        for name, _, first, words, _ in self.operations:
            has = ",".join(sm for sm in rejected if f"{self.name}/{name}" not in rejected[sm])
            lines.append(f"op {first} {words} {has or '-'} {name}")
        return lines
