"""Pages of Markdown with everything that the format has, for tests of documents."""

PAGE = """---
title: not this
---
# A *small* title #

First line with **bold words** and [a link](http://a.b/c?d=e_f "tip").
Then `code here`, ![pic](a.png) and <http://x.y>.  
After a hard break[^1]\\
and another.

> quoted
> twice

- [ ] task
- **item**
  goes on

1. 1
2. see [ref][there], [there] and [there][]

| name | text |
|:-----|-----:|
| one \\| two | *x* `a \\| b` |

<div>
html block
</div>

    indented code

```python
print("fenced")
```

He said <b>yes</b>.<br>Done &amp; over.

[^1]: the note

[there]: http://z.z "tip"

Underlined
----------
"""
EXPECTED = """---
title: not this
---
# A *SMALL* TITLE #

FIRST LINE WITH **BOLD WORDS** AND [A LINK](http://a.b/c?d=e_f "tip").
THEN `code here`, ![pic](a.png) AND <http://x.y>.  
AFTER A HARD BREAK[^1]\\
AND ANOTHER.

> QUOTED
> TWICE

- [ ] TASK
- **ITEM**
  GOES ON

1. 1
2. SEE [REF][there], [THERE][there] AND [THERE][there]

| NAME | TEXT |
|:-----|-----:|
| ONE \\| TWO | *X* `a \\| b` |

<div>
html block
</div>

    indented code

```python
print("fenced")
```

HE SAID <b>YES</b>.<br>DONE &amp; OVER.

[^1]: THE NOTE

[there]: http://z.z "tip"

UNDERLINED
----------
"""
EXTENDED = """import Tabs from '@theme/Tabs';
import {
  A,
} from 'b';

:::tip
useful words.
:::

!!! warning "Title"
    more words.

    - and more

??? note
    folded

a paragraph
:::note Heading
inside
:::

$$
E = mc^2
$$

the mass is $m_1 + m_2 = 3$ here, and it costs $5 or $10.

see [[Wiki Page|the page]], \\(not maths\\) and [@doe99].

[TOC]

:smile: happy at 10:30:45 :tada:

*[HTML]: Hyper Text

<Tabs groupId="a">
<TabItem value={x}>

a word

</TabItem>
</Tabs>

\\newpage

\\begin{align}
x
\\end{align}

- item
  :::tip
  inner
  :::

{: .class}
"""
