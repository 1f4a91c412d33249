"""Shows gdb's users what pointers to objects of the dynasoar library stand for, in programs that run loops on a CPU.

    (gdb) source /usr/share/dynasoar/gdb/dynasoar_gdb.py
    (gdb) print agent
    $1 = Shark (block 12, slot 5) = {position_ = Cell (block 3, slot 60), energy_ = 2.5, bites_ = {7, 9}}

Works for the pointers themselves, wherever gdb shows one. What is no address cannot be looked at otherwise: `print *agent`
and `print agent->energy_` fail, because gdb reads memory where there is none.
"""

import re

import gdb

SLOTS = 64
LINE = 128  # bytes
HALF_LINE = 64
SLOT_BITS = SLOTS - 1
BLOCK_BITS = 0x0000FFFFFFFFFFC0
GENERATIONS = 256
COMPRESSED_GENERATION_BITS = 4  # in checked builds
ADDRESS_BITS = 0x00FFFFFFFFFFFFFF
AOS_HEADER, AOS_PLACED_HEADER = 4, 8


def split_arguments(name):
    """The top-level template arguments in a type's name."""
    arguments, depth, begin = [], 0, name.index("<") + 1
    for i in range(begin, len(name)):
        if depth == 0 and name[i] in ",>":
            arguments.append(name[begin:i].strip())
            begin = i + 1
            if name[i] == ">":
                break
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(name[i], 0)
    return arguments


def next_line(offset):
    return (offset + LINE - 1) // LINE * LINE


class Field:
    """A field of a class: `count` elements of a type."""

    def __init__(self, name, type_name):
        self.name = name
        self.owner = type_name
        value = gdb.lookup_type(f"{type_name}::T").strip_typedefs()
        self.is_array = re.match(r"(?:std::)?(?:__\w+::)?array<", value.name or "") is not None
        self.type, self.count = value, 1
        if self.is_array:
            self.type = gdb.lookup_type(f"{type_name}::Element").strip_typedefs()
            self.count = value.sizeof // self.type.sizeof
        self.value_type = value
        self.stride = SLOTS * self.type.sizeof
        self.in_half_lines = self.stride % LINE != 0

    @property
    def bytes(self):
        return self.count * self.stride


class Class:
    """A class of objects, and where its fields are. The rules are those of dynasoar/classes/layout.h and dynasoar/malloc/aos_layout.h."""

    def __init__(self, type_):
        self.name = type_.name
        self.base = None
        own = []
        for member in type_.fields():
            name = (member.type.strip_typedefs().name or "")
            if member.is_base_class:
                if not name.startswith("dynasoar::SoaBase<"):
                    self.base = Class(member.type.strip_typedefs())
            elif name.startswith("dynasoar::SoaField<"):
                own.append(Field(member.name, name))
        self.places = list(self.base.places) if self.base else []  # (field, bytes from the block's start)
        self.bytes = self.place(own, self.base.bytes if self.base else 0)

    def derives_from(self, name):
        return self.name == name or (self.base is not None and self.base.derives_from(name))

    def places_in_piece(self, header):
        """(field, bytes from the object's start) of an object in one piece, behind a header of so many bytes."""
        places, end = [], header
        for field, _ in self.places:
            align = field.value_type.alignof
            places.append((field, (end + align - 1) // align * align))
            end = places[-1][1] + field.value_type.sizeof
        return places

    def place(self, own, inherited):
        used = inherited + sum(field.bytes for field in own)
        block = next_line(inherited) + sum(next_line(field.bytes) for field in own)
        shares = 10 * (block - used) > block
        half_lines_first = inherited % LINE != 0
        offsets, end = {}, inherited
        for in_half_lines in (half_lines_first, not half_lines_first):
            for i, field in enumerate(own):
                if field.in_half_lines != in_half_lines if shares else in_half_lines:
                    continue
                if not shares or not in_half_lines:
                    end = next_line(end)
                offsets[i] = end
                end += field.bytes
        self.places += [(field, offsets[i]) for i, field in enumerate(own)]
        return end

    @property
    def block_bytes(self):
        return next_line(self.bytes) if self.bytes > 0 else LINE


    @property
    def placed_block_bytes(self):
        return max(HALF_LINE, (self.bytes + HALF_LINE - 1) // HALF_LINE * HALF_LINE)


def bound_state(name):
    """What device code knows of an allocator, or of the placed classes of one."""
    for expression in (f"'dynasoar::detail::Binding<{name} >::state'", f"dynasoar::detail::Binding<{name} >::state",
                       f"'dynasoar::detail::Binding<{name}>::state'"):
        try:
            return gdb.parse_and_eval(expression)
        except gdb.error:
            continue
    raise gdb.error(f"no variable dynasoar::detail::Binding<{name}>::state")


class Allocator:
    """An allocator type: its classes, and where its heap is."""

    def __init__(self, name):
        self.name = name
        arguments = split_arguments(name)
        self.in_blocks = "AosAllocator" not in name.split("<")[0]
        # The first argument is not a class: which features the allocator has, or where its memory comes from.
        self.classes = [Class(gdb.lookup_type(argument)) for argument in arguments[1:]]
        self.blocks = [one.block_bytes for one in self.classes]
        self.page_bytes, self.stride = self.choose_pages()

    def unused(self, page, most):
        return max(page - min(page // block, most) * block for block in self.blocks)

    def choose_pages(self):
        page = max(self.blocks)
        while 16 * self.unused(page, page) > page:
            page += LINE
        stride = 1
        while 16 * self.unused(page, stride) > page:
            stride *= 2
        return page, stride

    def state(self):
        return bound_state(self.name)

    def placed(self, bits):
        """What is known of the lattice of an object's class; None if it is on none."""
        try:
            of_class = bound_state(f"dynasoar::detail::PlacedStates<{self.name} >")["of"][(bits >> 56) - 1]
        except gdb.error:
            return None  # no class is placed
        return of_class if int(of_class["shape"]["words_"]) != 0 else None

    def class_of(self, bits):
        index = (bits >> 56) - 1
        return self.classes[index] if 0 <= index < len(self.classes) else None

    def text(self, bits):
        """What dynasoar::print calls the object."""
        name = self.class_of(bits).name
        if not self.in_blocks:
            return f"{name} (at {bits & ADDRESS_BITS:#x})"
        if self.placed(bits):
            block = (bits & BLOCK_BITS) // self.class_of(bits).placed_block_bytes
        else:
            page, within = divmod(bits & BLOCK_BITS, self.page_bytes)
            block = page * self.stride + within // self.class_of(bits).block_bytes
        generation = f", generation {bits >> 48 & 255}" if self.is_checked() else ""
        return f"{name} (block {block}, slot {bits & SLOT_BITS}{generation})"

    def decompressed(self, bits, target):
        """The pointer that a CompressedPointer to a class of that name stands for. The rules are those of
        dynasoar/classes/pointer_format.h."""
        if not self.in_blocks or bits == 0:
            return bits
        types = [i for i, one in enumerate(self.classes) if one.derives_from(target)]
        most_blocks = max(min(self.page_bytes // self.blocks[i], self.stride) for i in types)
        page_shift = (most_blocks - 1).bit_length()
        class_bits = len(types).bit_length()
        position, slot = bits, bits & SLOT_BITS
        if self.is_checked():
            position &= (1 << 32 - COMPRESSED_GENERATION_BITS) - 1
        number, code = divmod(position >> 6, 1 << class_bits)
        page, index = number >> page_shift, number & (1 << page_shift) - 1
        handle = (page * self.page_bytes + index * self.blocks[types[code - 1]]) | slot | (types[code - 1] + 1) << 56
        if self.is_checked():
            tag = int(self.state()["checks"]["tags"][(page * self.stride + index) * SLOTS + slot]["value_"])
            known = (1 << COMPRESSED_GENERATION_BITS) - 1
            handle |= ((tag >> 2) % GENERATIONS & ~known | bits >> 32 - COMPRESSED_GENERATION_BITS) << 48
        return handle

    def is_checked(self):
        return any(field.name == "tags" for field in self.state()["checks"].type.fields())

    def elements(self, bits):
        """Each field, and its elements as values."""
        if self.in_blocks:
            block = int((self.placed(bits) or self.state())["base"]) + (bits & BLOCK_BITS)
            for field, offset in self.class_of(bits).places:
                first = block + offset + (bits & SLOT_BITS) * field.type.sizeof
                yield field, [value_at(first + i * field.stride, field.type) for i in range(field.count)]
        else:
            header = AOS_PLACED_HEADER if self.placed(bits) else AOS_HEADER
            for field, offset in self.class_of(bits).places_in_piece(header):
                first = (bits & ADDRESS_BITS) + offset
                yield field, [value_at(first + i * field.type.sizeof, field.type) for i in range(field.count)]


def value_at(address, type_):
    return gdb.Value(address).cast(type_.pointer()).dereference()


roots = {}       # name of a class -> name of its allocator, or None
allocators = {}  # name -> Allocator


def allocator_of(type_):
    """The allocator of the objects that a pointer type points to, or None."""
    type_ = type_.strip_typedefs()
    if type_.code != gdb.TYPE_CODE_PTR:
        return None
    target = type_.target().strip_typedefs().unqualified()
    if target.code != gdb.TYPE_CODE_STRUCT or target.name is None:
        return None
    if target.name not in roots:
        root = target
        while root is not None and not root.name.startswith("dynasoar::SoaBase<"):
            bases = [field.type.strip_typedefs() for field in root.fields() if field.is_base_class]
            root = bases[0] if bases and bases[0].name else None
        roots[target.name] = root and root.template_argument(0).strip_typedefs().name
    name = roots[target.name]
    if name is None:
        return None
    if name not in allocators:
        allocators[name] = Allocator(name)
    return allocators[name]


class ObjectPrinter:
    """A pointer to an object: what it stands for, and its fields. Pointers in these are not followed."""

    def __init__(self, bits, allocator):
        self.bits, self.allocator = bits, allocator

    def to_string(self):
        return self.allocator.text(self.bits)

    def children(self):
        for field, values in self.allocator.elements(self.bits):
            texts = [text_of(value) for value in values]
            yield field.name, f"{{{', '.join(texts)}}}" if field.is_array else texts[0]


def text_of(value):
    """A field's value; of a pointer to an object, what it stands for."""
    value = as_pointer(value)
    allocator = allocator_of(value.type)
    if allocator and allocator.class_of(int(value)):
        return allocator.text(int(value))
    return value.format_string()


def as_pointer(value):
    """The pointer that a CompressedPointer stands for; other values as they are."""
    type_ = value.type.strip_typedefs()
    if not (type_.name or "").startswith("dynasoar::CompressedPointer<"):
        return value
    target = type_.template_argument(0)
    bits = int(value["bits_"])
    allocator = allocator_of(target.pointer())
    return gdb.Value(allocator.decompressed(bits, target.unqualified().strip_typedefs().name)).cast(target.pointer())


def printer_for(value):
    try:
        value = as_pointer(value)
        allocator = allocator_of(value.type)
        if allocator is None or allocator.class_of(int(value)) is None:
            return None
        allocator.state()  # else its objects cannot be found
    except gdb.error:
        return None
    return ObjectPrinter(int(value), allocator)


def forget(_):
    roots.clear()
    allocators.clear()


printer_for.__name__ = "dynasoar"
gdb.pretty_printers.append(printer_for)
gdb.events.new_objfile.connect(forget)
